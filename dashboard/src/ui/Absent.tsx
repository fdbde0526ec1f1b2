// A page in place of one whose record is not shown: it is loading, could not be loaded, or does not exist.

import type { CombinedError } from '@urql/core';
import type { ReactNode } from 'react';
import { refusalOf } from '../graphql/errors.ts';
import { Page } from './Page.tsx';
import { Empty, Failure, Skeleton } from './states.tsx';

interface AbsentProps {
  title: string;
  isLoading: boolean;
  error?: CombinedError;
  retry: () => void;
  children: ReactNode;
}

export function Absent({ title, isLoading, error, retry, children }: AbsentProps) {
  const isMissing = !error || refusalOf(error).code === 'not_found';
  return (
    <Page title={title}>
      {isLoading ? <Skeleton /> : isMissing ? <Empty>{children}</Empty> : <Failure error={error} retry={retry} />}
    </Page>
  );
}
