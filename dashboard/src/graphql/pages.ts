// A list that is loaded page by page, and whose beginning can be loaded again.

import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { AnyVariables, CombinedError, TypedDocumentNode } from 'urql';
import { useClient } from 'urql';
import { freshOf } from './kept.ts';
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
  /** Load a next page of another size, where the document takes one. */
  moreOf(size: { first: number }): void;
  refresh(): void;
  /** Show a row as it is now, or leave it out, where it is loaded. */
  put(row: Row, isListed: boolean): void;
}

interface State<Row> {
  rows: Row[];
  end: string | null;
  error?: CombinedError;
  isLoading: boolean;
}

/** A list with its document. */
export interface Listing<Data, Variables, Row> {
  document: TypedDocumentNode<Data, Variables>;
  connectionOf(data: Data): Connection<Row>;
  /**
   * Tells whether a row stands after another one. With it, `refresh` loads the first page alone and keeps the rows
   * after that: they follow from updates. Without it, `refresh` loads the pages that are shown.
   */
  isAfter?(row: Row, other: Row): boolean;
}

/** The most pages that a refresh loads; it keeps the rows after them. */
const MOST_PAGES = 10;

type Change<Row> = Partial<State<Row>> | ((old: State<Row>) => Partial<State<Row>>);

interface Answer<Row> {
  page?: Connection<Row>;
  error?: CombinedError;
}

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
    async (
      ask: (pageAfter: (after: string | null) => Promise<Answer<Row>>) => Promise<Answer<Row>>,
      merge: (old: State<Row>, page: Connection<Row>) => Partial<State<Row>>,
      size?: { first: number },
    ) => {
      turn.current += 1;
      const mine = turn.current;
      change({ isLoading: true, error: undefined });
      const { page, error } = await ask(async (after) => {
        const given = { ...JSON.parse(asked), ...size, after } as Variables;
        const asking = client.query(listing.document, given, { requestPolicy: 'network-only' }).toPromise();
        answer.current = asking;
        const answered = await asking;
        const data = freshOf(answered);
        return { page: data && listing.connectionOf(data), error: answered.error };
      });
      if (mine !== turn.current) return;
      change((old) => ({ isLoading: false, error, ...(page && merge(old, page)) }));
    },
    [client, listing, asked],
  );

  useEffect(() => {
    change({ rows: [], end: null });
    void load(
      (pageAfter) => pageAfter(null),
      (_, page) => ({ rows: page.nodes, end: endOf(page) }),
    );
  }, [load]);

  const moreOf = (size?: { first: number }) => {
    const { end } = state;
    if (!end || state.isLoading) return;
    void load(
      (pageAfter) => pageAfter(end),
      ({ rows }, page) => ({ rows: withoutDoubles([...rows, ...page.nodes]), end: endOf(page) }),
      size,
    );
  };
  const latest = useRef({ load, count: 0 });
  useEffect(() => {
    latest.current = { load, count: listing.isAfter ? 0 : countOf(state) };
  }, [load, listing, state]);
  const refresh = useOneAtATime(async () => {
    await answer.current; // an equal request would share its answer, which may be older than the change
    const { load: loadNow, count } = latest.current;
    await loadNow(
      (pageAfter) => askAgain(pageAfter, count),
      (old, page) => {
        const rows = endOf(page) ? withTail(old.rows, page.nodes, listing.isAfter) : withoutDoubles(page.nodes);
        return { rows, end: rows.length > page.nodes.length ? old.end : endOf(page) };
      },
    );
  });
  const put = (row: Row, isListed: boolean) =>
    change((old) => ({ rows: old.rows.flatMap((each) => (each.id !== row.id ? each : isListed ? row : [])) }));
  return { ...state, hasMore: state.end !== null, more: () => moreOf(), moreOf, refresh, put };
}

/** Return the number of the rows to load again: all of them where the end of the list is shown. */
function countOf({ rows, end }: State<unknown>): number {
  return rows.length > 0 && end === null ? Number.POSITIVE_INFINITY : rows.length;
}

/** Load the pages of a list that has as many rows; one that is shown in part, because rows were added, is left out. */
async function askAgain<Row>(
  pageAfter: (after: string | null) => Promise<Answer<Row>>,
  count: number,
): Promise<Answer<Row>> {
  const nodes: Row[] = [];
  let after: string | null = null;
  for (let turn = 1; ; turn += 1) {
    const { page, error }: Answer<Row> = await pageAfter(after);
    if (!page || error) return { page: turn === 1 ? page : undefined, error };
    nodes.push(...page.nodes);
    after = endOf(page);
    const isEnough = nodes.length + page.nodes.length > count;
    if (!after || isEnough || turn === MOST_PAGES) return { page: { nodes, page_info: page.page_info } };
  }
}

function applied<Row>(old: State<Row>, change: Change<Row>): State<Row> {
  return { ...old, ...(typeof change === 'function' ? change(old) : change) };
}

function endOf({ page_info }: Connection<unknown>): string | null {
  return page_info.has_next_page ? page_info.end_cursor : null;
}

/** Return the rows of the beginning of a list that was loaded again, and those after them as they were. */
function withTail<Row extends { id: number }>(
  rows: Row[],
  head: Row[],
  isAfter?: (row: Row, other: Row) => boolean,
): Row[] {
  const last = head.at(-1);
  if (!last) return head;
  if (isAfter) return withoutDoubles([...head, ...rows.filter((row) => isAfter(row, last))]);
  const place = rows.findIndex(({ id }) => id === last.id);
  return place < 0 ? withoutDoubles(head) : withoutDoubles([...head, ...rows.slice(place + 1)]);
}

function withoutDoubles<Row extends { id: number }>(rows: Row[]): Row[] {
  const seen = new Set<number>();
  return rows.filter(({ id }) => !seen.has(id) && seen.add(id));
}
