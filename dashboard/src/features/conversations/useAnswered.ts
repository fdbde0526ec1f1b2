// The notice that a colleague has answered since a draft was begun: the next attempt to send asks once.

import { useRef, useState } from 'react';
import type { Message } from '../../graphql/index.ts';

export interface Answered {
  /** The answer of somebody else that the sender is asked about. */
  asked?: Message;
  /** Note that the text was changed. */
  typed: (text: string) => void;
  /** Tell whether the text may be sent now, or the sender is asked first. */
  permits: () => boolean;
}

export function useAnswered(latest: Message | undefined): Answered {
  const known = useRef(latest?.id);
  const isBegun = useRef(false);
  const [asked, ask] = useState<Message>();
  return {
    asked,
    typed: (text) => {
      if (text && !isBegun.current) known.current = latest?.id;
      isBegun.current = text !== '';
      if (!text) ask(undefined);
    },
    permits: () => {
      if (!latest || latest.id === known.current) return true;
      known.current = latest.id;
      ask(latest);
      return false;
    },
  };
}
