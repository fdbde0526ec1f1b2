// The report of an import or of its dry run.

import { useRef } from 'react';
import { JobProgress } from './JobProgress.tsx';

interface ReportProps {
  id: number;
  title: string;
  onEnd?: () => void;
  onClose?: () => void;
}

/** The report stands below the form: once it is complete it is scrolled into view. */
export function Report({ id, title, onEnd, onClose }: ReportProps) {
  const box = useRef<HTMLDivElement>(null);
  const end = () => {
    box.current?.scrollIntoView({ block: 'nearest' });
    onEnd?.();
  };
  return (
    <div ref={box}>
      <JobProgress id={id} title={title} onEnd={end} onClose={onClose} />
    </div>
  );
}
