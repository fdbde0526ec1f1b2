// The bookings of a scheduling tool, with the texts about each.

import { usePages } from '../../graphql/index.ts';
import { Badge, Card, Empty, Failure, type Kind, More, Phone, Skeleton, Time, words } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { type Booking, bookingsListing } from './queries.ts';

const MARKS: Record<Booking['status'], Kind> = { booked: 'good', moved: 'plain', canceled: 'plain', no_show: 'warn' };
const KINDS: Record<Booking['texts'][number]['kind'], string> = {
  confirmation: 'Confirmation',
  reminder_day: 'Reminder on the day before',
  reminder_hour: 'Reminder an hour before',
  rescheduled: 'Text about the move',
  canceled: 'Text about the cancellation',
  no_show: 'Text after the no-show',
};
const TEXT_MARKS: Record<Booking['texts'][number]['status'], Kind> = {
  waiting: 'plain',
  sent: 'good',
  skipped: 'plain',
  canceled: 'plain',
  refused: 'bad',
};

export function Bookings({ integration_id }: { integration_id: number }) {
  const pages = usePages(bookingsListing, { status: null });
  const rows = pages.rows.filter((booking) => booking.integration_id === integration_id);
  return (
    <Card title="Bookings">
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {rows.length === 0 && !pages.isLoading && !pages.error && !pages.hasMore && <Empty>No booking came yet.</Empty>}
      {rows.map((booking) => (
        <Row key={booking.id} booking={booking} />
      ))}
      <More pages={pages} />
    </Card>
  );
}

function Row({
  booking: { status, starts_at, time_zone, name, title, phone, consent, contact, texts },
}: {
  booking: Booking;
}) {
  return (
    <details className={styles.row}>
      <summary>
        <Badge kind={MARKS[status]}>{words(status)}</Badge>
        <strong dir="auto">{contact?.label ?? (name || 'An attendee')}</strong>
        <span dir="auto">{title}</span>
        <Time at={starts_at} full />
      </summary>
      <p>
        {phone ? <Phone number={phone} /> : 'No phone'}. {time_zone || 'The zone of the phone'}. Consent:{' '}
        {consent ?? 'none, so no text is sent'}.
      </p>
      <ul className={styles.texts}>
        {texts.map((text) => (
          <li key={`${text.kind} ${text.due_at}`}>
            <Badge kind={TEXT_MARKS[text.status]}>{words(text.status)}</Badge> {KINDS[text.kind]}, due{' '}
            <Time at={text.due_at} full /> {text.reason && `(${words(text.reason)})`}
          </li>
        ))}
      </ul>
    </details>
  );
}
