// A phone in groups; it is copied, and shown on hover, in E.164 form.

import type { ClipboardEvent } from 'react';
import { grouped } from './phone.ts';

export function Phone({ number }: { number: string }) {
  const copy = (event: ClipboardEvent) => {
    event.clipboardData.setData('text/plain', number);
    event.preventDefault();
  };
  return (
    <span title={number} onCopy={copy} style={{ whiteSpace: 'nowrap' }}>
      {grouped(number)}
    </span>
  );
}
