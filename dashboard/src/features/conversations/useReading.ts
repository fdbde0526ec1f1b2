// Marking what was read: the newest message that was in view for a second, in a window that has the focus.

import { useEffect } from 'react';
import { useMutation } from 'urql';
import type { Message } from '../../graphql/index.ts';
import { MarkRead } from './mutations.ts';

const GLANCE = 1_000;

export function useReading(
  conversation: { id: number; unread_count: number; read_up_to: number | null } | null | undefined,
  messages: Message[],
): void {
  const [, markRead] = useMutation(MarkRead);
  const id = conversation?.id;
  const newest = messages.findLast(({ direction }) => direction === 'inbound')?.id ?? 0;
  const isUnread = newest > (conversation?.read_up_to ?? 0);
  useEffect(() => {
    if (!id || !isUnread) return;
    let timer: number | undefined;
    const look = () => {
      window.clearTimeout(timer);
      if (!document.hasFocus()) return;
      timer = window.setTimeout(() => void markRead({ id, read_up_to: newest }), GLANCE);
    };
    look();
    window.addEventListener('focus', look);
    window.addEventListener('blur', look);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('focus', look);
      window.removeEventListener('blur', look);
    };
  }, [id, isUnread, newest, markRead]);
}
