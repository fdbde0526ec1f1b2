// The sign-out: texts that were not sent are deleted from this browser, its preferences stay.

import { SINGLE_KEYS } from './keys.ts';

const PREFERENCES = new Set(['mantine-color-scheme-value', SINGLE_KEYS]);

/** Count the texts that a person typed in this browser and did not send, and those that wait for a connection. */
export function countUnsent(userId: number): number {
  const waiting = JSON.parse(localStorage.getItem(`outbox-${userId}`) ?? '[]') as unknown[];
  return Object.keys(localStorage).filter((place) => place.startsWith(`draft-${userId}-`)).length + waiting.length;
}

/** Send the form that ends the session; its token came with the page. */
export function signOut(): void {
  for (const place of Object.keys(localStorage)) if (!PREFERENCES.has(place)) localStorage.removeItem(place);
  const token = document.querySelector<HTMLMetaElement>('meta[name="form-token"]');
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/logout';
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'form_token';
  field.value = token?.content ?? '';
  form.append(field);
  document.body.append(form);
  form.submit();
}
