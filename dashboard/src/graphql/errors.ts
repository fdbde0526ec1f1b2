// Errors of the service as a person reads them.

import type { CombinedError } from '@urql/core';

export interface Refusal {
  code: string;
  text: string;
  field?: string;
  requestId?: string;
}

/** Return what the service said; for a request without an answer, what to do. */
export function refusalOf(error: CombinedError): Refusal {
  const [first] = error.graphQLErrors;
  if (!first) return { code: 'offline', text: 'The service did not answer. Check the connection, then try again.' };
  const { code, field, request_id } = first.extensions;
  return {
    code: textOf(code) ?? 'internal_error',
    text: first.message,
    field: textOf(field),
    requestId: textOf(request_id),
  };
}

/** Tell whether no answer came, so that the request may or may not have been carried out. */
export function isUnanswered(error: CombinedError): boolean {
  return error.graphQLErrors.length === 0;
}

/** Tell whether the session has ended. */
export function isSignedOut(error: CombinedError): boolean {
  return (
    isUnauthorized(error.response) ||
    error.graphQLErrors.some(({ extensions }) => extensions.code === 'unauthenticated')
  );
}

function isUnauthorized(response: unknown): boolean {
  return typeof response === 'object' && response !== null && 'status' in response && response.status === 401;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
