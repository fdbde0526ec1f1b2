// The notice that a colleague has answered since a draft was begun: the next attempt to send asks once.

import { useState } from 'react';
import type { Message } from '../../graphql/index.ts';
import type { Draft } from './drafts.ts';

export interface Answered {
  /** The answer of somebody else that the sender is asked about. */
  asked?: Message;
  /** Tell whether the draft may be sent now, or its author is asked first. */
  permits: () => boolean;
}

/** Compare the latest answer of somebody else with the last message that the author of a draft saw. */
export function useAnswered(answer: Message | undefined, { text, seen, see }: Draft): Answered {
  const [asked, ask] = useState<Message>();
  return {
    asked: text ? asked : undefined,
    permits: () => {
      if (!answer || seen === undefined || answer.id <= seen) return true;
      see(answer.id);
      ask(answer);
      return false;
    },
  };
}
