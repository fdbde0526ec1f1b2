// The notices, the newest first. Opening one marks it as read, and shows what it is about.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { usePages, useUpdates } from '../../graphql/index.ts';
import { Empty, Failure, More, Refused, Skeleton, Time, useAct } from '../../ui/index.ts';
import { targetOf } from './model.ts';
import { Read } from './mutations.ts';
import styles from './notices.module.css';
import { type Notice, noticesListing } from './queries.ts';
import { unread } from './unread.ts';

export function Panel({ onClose }: { onClose: () => void }) {
  const pages = usePages(noticesListing, {});
  const read = useAct(Read);
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'NoticeUpdate') pages.refresh();
  });
  const mark = async (up_to: number, since?: number) => {
    const done = await read.run({ up_to, since });
    if (done) unread.set(done.read_notices.unread);
    pages.refresh();
  };
  const newest = pages.rows[0];
  return (
    <>
      <div className={styles.acts}>
        <Button
          size="xs"
          variant="default"
          loading={read.isBusy}
          disabled={!newest || pages.rows.every(({ read_at }) => read_at)}
          onClick={() => newest && void mark(newest.id)}
        >
          Mark all as read
        </Button>
        <Link to="/settings/notices" onClick={onClose}>
          Choose your notices
        </Link>
      </div>
      {read.refusal && <Refused refusal={read.refusal} />}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>No notices yet. Texts of contacts, and tasks for you, are listed here.</Empty>
      )}
      <ul className={styles.list} aria-label="Notices">
        {pages.rows.map((notice) => (
          <Row
            key={notice.id}
            notice={notice}
            onOpen={() => {
              onClose();
              if (!notice.read_at) void mark(notice.id, notice.id);
            }}
          />
        ))}
      </ul>
      <More pages={pages} />
    </>
  );
}

function Row({ notice, onOpen }: { notice: Notice; onOpen: () => void }) {
  const { title, body, count, read_at, created_at } = notice;
  return (
    <li>
      <Link {...targetOf(notice)} className={styles.row} onClick={onOpen}>
        <span className={styles.dot}>{!read_at && <span role="img" aria-label="Unread" className={styles.new} />}</span>
        <span className={styles.text} dir="auto">
          <strong>{count > 1 ? `${title} (${count})` : title}</strong>
          {body && <span className={styles.body}>{body}</span>}
        </span>
        <span className={styles.time}>
          <Time at={created_at} />
        </span>
      </Link>
    </li>
  );
}
