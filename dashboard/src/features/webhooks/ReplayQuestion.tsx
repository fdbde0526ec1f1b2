// The question before a replay: how many deliveries are sent again, and why others are not.

import type { CombinedError } from 'urql';
import type { Refusal } from '../../graphql/index.ts';
import { Confirm, Failure, plural, Skeleton, words } from '../../ui/index.ts';

interface Preview {
  count: number;
  has_more?: boolean;
  refused: { reason: string; count: number }[];
}

interface QuestionProps {
  title: string;
  isOpen: boolean;
  preview?: Preview | null;
  error?: CombinedError;
  retry: () => void;
  state: { isBusy: boolean; refusal?: Refusal };
  onClose: () => void;
  onConfirm: () => void;
}

export function ReplayQuestion({ title, isOpen, preview, error, retry, state, onClose, onConfirm }: QuestionProps) {
  return (
    <Confirm
      title={title}
      act={preview ? `Send ${plural(preview.count, 'delivery', 'deliveries')} again` : 'Send again'}
      isOpen={isOpen}
      isBusy={state.isBusy || !preview?.count}
      refusal={state.refusal}
      isDangerous={false}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      {error && <Failure error={error} retry={retry} />}
      {!preview && !error && <Skeleton rows={2} />}
      {preview && <p>{plural(preview.count, 'delivery is', 'deliveries are')} sent again.</p>}
      {preview?.has_more && <p>There are more: replay again to send the next ones.</p>}
      {preview?.refused.map(({ reason, count }) => (
        <p key={reason}>
          {plural(count, 'is', 'are')} not: {words(reason).toLowerCase()}.
        </p>
      ))}
    </Confirm>
  );
}
