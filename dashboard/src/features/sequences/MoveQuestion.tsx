// The question whether the people under way keep the texts that they began with, or move to the new ones.

import { Button, Group, Modal, Radio } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { useState } from 'react';
import { plural } from '../../ui/index.ts';
import type { Sequence } from './queries.ts';
import styles from './sequences.module.css';

interface MoveQuestionProps {
  sequence: Sequence;
  isOpen: boolean;
  isBusy: boolean;
  onClose: () => void;
  onChoose: (migrate: boolean) => void;
}

export function MoveQuestion({ sequence, isOpen, isBusy, onClose, onChoose }: MoveQuestionProps) {
  const { counts, steps_version: version } = sequence;
  const isMounted = useMounted(); // the dialog returns the focus if it opens after that
  const [choice, setChoice] = useState('keep');
  const people = plural(counts.active, 'person', 'people');
  return (
    <Modal opened={isOpen && isMounted} onClose={onClose} title={`${people} under way`}>
      <Radio.Group aria-label="The people under way" value={choice} onChange={setChoice}>
        <div className={styles.form}>
          <Radio
            value="keep"
            label={`They keep version ${version}`}
            description="They get the texts that they began with. New people get the new ones."
            data-autofocus
          />
          <Radio
            value="move"
            label={`They move to version ${version + 1}`}
            description="Each goes on with the next text as it is now; nobody gets a text twice. Those whose next text is gone, or was moved, finish the version that they have."
          />
        </div>
      </Radio.Group>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Edit further
        </Button>
        <Button loading={isBusy} onClick={() => onChoose(choice === 'move')}>
          Save as version {version + 1}
        </Button>
      </Group>
    </Modal>
  );
}
