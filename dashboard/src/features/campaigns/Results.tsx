// The results of a campaign while it is sent and after: progress, answers, groups, reasons, diagnosis.

import { Link } from '@tanstack/react-router';
import { useMay } from '../../graphql/index.ts';
import { Card, Facts, Notice, Time } from '../../ui/index.ts';
import { Breakdown } from './Breakdown.tsx';
import { useNames } from '../conversations/index.ts';
import styles from './campaigns.module.css';
import { Controls } from './Controls.tsx';
import { Diagnosis } from './Diagnosis.tsx';
import { PAUSES, progressOf } from './model.ts';
import { ProgressCard } from './ProgressCard.tsx';
import type { Campaign } from './queries.ts';
import { Reasons } from './Reasons.tsx';
import { inWords } from './timing.ts';

export function Results({ campaign }: { campaign: Campaign }) {
  const maySend = useMay('campaigns:send');
  const progress = progressOf(campaign.counts);
  return (
    <>
      <Course campaign={campaign} />
      {maySend && <Controls campaign={campaign} progress={progress} />}
      {campaign.status !== 'scheduled' && (
        <>
          <ProgressCard campaign={campaign} progress={progress} />
          <div className={styles.columns}>
            <div>
              <Breakdown id={campaign.id} />
              <Reasons campaign={campaign} />
            </div>
            <div>
              <Diagnosis id={campaign.id} />
              <Content campaign={campaign} />
            </div>
          </div>
        </>
      )}
      {campaign.status === 'scheduled' && <Content campaign={campaign} />}
    </>
  );
}

function Course({ campaign: { status, reason, scheduled_at, local_at } }: { campaign: Campaign }) {
  if (status === 'scheduled') {
    return (
      <Notice>
        <span>
          {local_at ? (
            <>
              Each person is texted when it is {inWords(local_at)} where they are. The first texts leave{' '}
              <Time at={scheduled_at} full />.
            </>
          ) : (
            <>
              It starts <Time at={scheduled_at} full />.
            </>
          )}{' '}
          The audience is read then.
        </span>
      </Notice>
    );
  }
  if (!reason) return null;
  const { text, link } = PAUSES[reason];
  return (
    <Notice kind={status === 'failed' ? 'bad' : 'warn'}>
      <span>{text}</span>
      {link && <Link to={link.to}>{link.label}</Link>}
    </Notice>
  );
}

function Content({ campaign }: { campaign: Campaign }) {
  const { body, sent_at, ended_at, local_at, creator, max_credits } = campaign;
  const names = useNames();
  const rows: [string, React.ReactNode][] = [['By', names(creator)]];
  if (sent_at) rows.push(['Started', <Time key="sent" at={sent_at} full />]);
  if (local_at && sent_at) rows.push(['Local time', inWords(local_at)]);
  if (ended_at) rows.push(['Ended', <Time key="ended" at={ended_at} full />]);
  if (max_credits) rows.push(['At most', `${max_credits} credits`]);
  return (
    <Card title="The text">
      <p className={styles.bubble} dir="auto">
        {body}
      </p>
      <Facts rows={rows} />
    </Card>
  );
}
