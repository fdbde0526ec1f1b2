// A list that is loaded page by page, and whose beginning can be loaded again.

import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { AnyVariables, CombinedError, TypedDocumentNode } from 'urql';
import { useClient } from 'urql';
import { useOneAtATime } from './useOneAtATime.ts';

export interface Connection<Row> {
  nodes: Row[];
  page_info: { has_next_page: boolean; end_cursor: string | null };
}

export interface Pages<Row> {
  rows: Row[];
  hasMore: boolean;
  isLoading: boolean;
  error?: CombinedError;
  more(): void;
  refresh(): void;
}

interface State<Row> {
  rows: Row[];
  end: string | null;
  error?: CombinedError;
  isLoading: boolean;
}

/** A list with its document: `isAfter` tells whether a row stands after another one, so that `refresh` keeps it. */
export interface Listing<Data, Variables, Row> {
  document: TypedDocumentNode<Data, Variables>;
  connectionOf(data: Data): Connection<Row>;
  isAfter?(row: Row, other: Row): boolean;
}

type Change<Row> = Partial<State<Row>> | ((old: State<Row>) => Partial<State<Row>>);

/** Load a list by cursor. The listing is a constant; other variables begin a new list. */
export function usePages<Data, Variables extends AnyVariables, Row extends { id: number }>(
  listing: Listing<Data, Variables, Row>,
  variables: Omit<Variables, 'after'>,
): Pages<Row> {
  const client = useClient();
  const [state, change] = useReducer(applied<Row>, { rows: [], end: null, isLoading: true });
  const asked = JSON.stringify(variables);
  const turn = useRef(0);
  const answer = useRef<PromiseLike<unknown>>(Promise.resolve());

  const load = useCallback(
    async (after: string | null, merge: (old: State<Row>, page: Connection<Row>) => Partial<State<Row>>) => {
      turn.current += 1;
      const mine = turn.current;
      change({ isLoading: true, error: undefined });
      const given = { ...JSON.parse(asked), after } as Variables;
      const asking = client.query(listing.document, given, { requestPolicy: 'network-only' }).toPromise();
      answer.current = asking;
      const { data, error } = await asking;
      if (mine !== turn.current) return;
      change((old) => ({ isLoading: false, error, ...(data && merge(old, listing.connectionOf(data))) }));
    },
    [client, listing, asked],
  );

  useEffect(() => {
    change({ rows: [], end: null });
    void load(null, (_, page) => ({ rows: page.nodes, end: endOf(page) }));
  }, [load]);

  const more = () => {
    if (!state.end || state.isLoading) return;
    void load(state.end, ({ rows }, page) => ({ rows: withoutDoubles([...rows, ...page.nodes]), end: endOf(page) }));
  };
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  }, [load]);
  const refresh = useOneAtATime(async () => {
    await answer.current; // an equal request would share its answer, which may be older than the change
    await latest.current(null, (old, page) => {
      const rows = withTail(old.rows, page.nodes, listing.isAfter);
      return { rows, end: rows.length > page.nodes.length ? old.end : endOf(page) };
    });
  });
  return { ...state, hasMore: state.end !== null, more, refresh };
}

function applied<Row>(old: State<Row>, change: Change<Row>): State<Row> {
  return { ...old, ...(typeof change === 'function' ? change(old) : change) };
}

function endOf({ page_info }: Connection<unknown>): string | null {
  return page_info.has_next_page ? page_info.end_cursor : null;
}

function withTail<Row extends { id: number }>(
  rows: Row[],
  head: Row[],
  isAfter?: (row: Row, other: Row) => boolean,
): Row[] {
  const last = head.at(-1);
  if (!last || !isAfter) return head;
  return withoutDoubles([...head, ...rows.filter((row) => isAfter(row, last))]);
}

function withoutDoubles<Row extends { id: number }>(rows: Row[]): Row[] {
  const seen = new Set<number>();
  return rows.filter(({ id }) => !seen.has(id) && seen.add(id));
}
