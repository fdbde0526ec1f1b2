// The end of a session, and the sign-in in another window that lets the work go on.

import { createStore } from './store.ts';

const channel = new BroadcastChannel('messaging-session');

export const session = createStore({ isEnded: false });

let waiting: (() => void)[] = [];
let userId: number | undefined;

/** Wait until the same person has signed in again, in this or another tab. */
export function signInAgain(): Promise<void> {
  session.set({ isEnded: true });
  return new Promise((resolve) => waiting.push(resolve));
}

export function rememberUser(id: number): void {
  userId = id;
}

/** Tell the other tabs who is signed in now. */
export function announceSignIn(id: number): void {
  channel.postMessage(id);
}

channel.onmessage = ({ data }: MessageEvent<number>) => {
  if (data !== userId) return window.location.reload(); // nothing of another person's stays in view
  session.set({ isEnded: false });
  for (const resume of waiting) resume();
  waiting = [];
};
