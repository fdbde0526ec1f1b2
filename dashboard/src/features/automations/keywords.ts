// The words of keywords.

import type { Keyword } from './queries.ts';

export const MATCHES: Record<Keyword['match'], string> = {
  exact: 'The whole text',
  starts_with: 'The first words',
  word: 'Any word',
};
