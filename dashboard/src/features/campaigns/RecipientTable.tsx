// The rows of recipients: the person, the state with its reason, the answer.

import { Link } from '@tanstack/react-router';
import { grouped, Mark, Phone, Table, Time } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { reasonOf, STATE_WORDS } from './model.ts';
import type { Recipient } from './results.ts';

export function RecipientTable({ rows }: { rows: Recipient[] }) {
  return (
    <Table
      label="Recipients"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Person', cell: (row) => <Person row={row} /> },
        {
          title: 'State',
          cell: ({ state, reason, description }) => (
            <span className={styles.rowLabel}>
              <span className={styles.state}>
                <Mark tone={STATE_WORDS[state].tone} /> {STATE_WORDS[state].word}
              </span>
              {reason && (
                <span className={`${styles.soft} ${styles.why}`}>
                  {reasonOf(reason)}. {description}
                </span>
              )}
            </span>
          ),
        },
        { title: 'Answer', cell: answerOf },
        { title: 'From', cell: ({ from_number }) => (from_number ? <Phone number={from_number} /> : '–') },
        { title: 'Parts', isNumber: true, cell: ({ segments }) => segments || '–' },
        { title: 'Credits', isNumber: true, cell: ({ credits }) => credits || '–' },
        { title: 'When', cell: whenOf },
      ]}
    />
  );
}

function Person({ row: { contact, phone } }: { row: Recipient }) {
  if (!contact) return phone ? <Phone number={phone} /> : <>Deleted contact</>;
  return (
    <span className={styles.rowLabel}>
      <Link to="/contacts/$id" params={{ id: contact.id }}>
        {contact.label}
      </Link>
      {phone && !contact.label.includes(grouped(phone)) && (
        <span className={styles.soft}>
          <Phone number={phone} />
        </span>
      )}
    </span>
  );
}

function answerOf({ replied_at, opted_out_at }: Recipient) {
  if (opted_out_at) {
    return (
      <>
        Opted out <Time at={opted_out_at} />
      </>
    );
  }
  if (!replied_at) return '–';
  return (
    <>
      Replied <Time at={replied_at} />
    </>
  );
}

function whenOf({ state, due_at, sent_at, settled_at }: Recipient) {
  if (state === 'failed' && settled_at) {
    return (
      <>
        Failed <Time at={settled_at} full />
      </>
    );
  }
  if (sent_at) return <Time at={sent_at} full />;
  if (!due_at) return '–';
  return (
    <>
      Due <Time at={due_at} full />
    </>
  );
}
