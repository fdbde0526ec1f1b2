// A list that grows page by page, from either end.

import type { AnyVariables, OperationResult, OperationResultSource } from '@urql/core';
import { pipe, subscribe } from 'wonka';

const SIZE = 10;

export type Window = { first: number; after?: string } | { last: number; before?: string };
export type End = keyof typeof WINDOWS;

export const WINDOWS = { start: { first: SIZE }, end: { last: SIZE } };

export interface Connection<Row> {
  nodes: Row[];
  page_info: {
    has_next_page: boolean;
    has_previous_page: boolean;
    start_cursor: string | null;
    end_cursor: string | null;
  };
}

/** Show a list from one end on, with every page that `more` loads; `more` tells whether there is another one. */
export function openList<Data, Variables extends AnyVariables, Row>(
  end: End,
  ask: (window: Window) => OperationResultSource<OperationResult<Data, Variables>>,
  find: (data: Data) => Connection<Row> | undefined,
  show: (rows: Row[]) => void,
) {
  let next: Window | undefined = WINDOWS[end];
  const watch = pipe(
    ask(next),
    subscribe(({ data }) => {
      const list = data && find(data);
      if (list) show(list.nodes);
    }),
  );

  async function more(): Promise<boolean> {
    if (!next) return false;
    const { data, error } = await ask(next);
    if (error) throw error;
    next = data && beyond(end, find(data)?.page_info);
    return next !== undefined;
  }

  return { more, close: watch.unsubscribe };
}

/** Return the rows with one in its place: before the first that follows it. A row of a page not loaded yet stays out. */
export function place<Row extends { id: number }>(list: Connection<Row>, row: Row, follows: (other: Row) => boolean) {
  const others = list.nodes.filter(({ id }) => id !== row.id);
  const index = others.findIndex(follows);
  if (index >= 0) return others.toSpliced(index, 0, row);
  const isLoaded = others.length < list.nodes.length || !list.page_info.has_next_page;
  return isLoaded ? [...others, row] : others;
}

function beyond(end: End, page?: Connection<unknown>['page_info']): Window | undefined {
  if (end === 'start') {
    return page?.has_next_page && page.end_cursor ? { first: SIZE, after: page.end_cursor } : undefined;
  }
  return page?.has_previous_page && page.start_cursor ? { last: SIZE, before: page.start_cursor } : undefined;
}
