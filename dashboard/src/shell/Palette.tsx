// The command palette: one field that finds pages, actions and records, and leads to them.

import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { graphql, refusalOf, useViewer } from '../graphql/index.ts';
import { Icon, useSettled } from '../ui/index.ts';
import { type Command, commandOf, commandsFor, recentOf, remember } from './palette.ts';
import styles from './palette.module.css';
import { type ShownProps, useShown } from './shown.ts';

const Search = graphql(`
  query PaletteSearch($text: String!) {
    search(text: $text) {
      kind
      id
      name
      detail
    }
  }
`);

const LIST = 'palette-list';

export function Palette({ isOpen, onClose }: ShownProps) {
  const isShown = useShown(isOpen);
  return (
    <Modal.Root opened={isShown} onClose={onClose} padding={0} yOffset="10dvh" size={600}>
      <Modal.Overlay />
      <Modal.Content radius={16} aria-label="Search and commands">
        <Field onDone={onClose} />
      </Modal.Content>
    </Modal.Root>
  );
}

function Field({ onDone }: { onDone: () => void }) {
  const { id, scopes } = useViewer();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(0);
  const { commands, isOld, state } = useCommands(typed, id, scopes);
  const chosen = commands[Math.min(place, commands.length - 1)];
  const go = (command: Command) => {
    remember(id, command);
    onDone();
    void navigate({ to: command.to, hash: command.hash });
  };
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && chosen && !isOld(chosen)) go(chosen);
    if (step === undefined) return;
    event.preventDefault();
    setPlace((Math.min(place, commands.length - 1) + step + commands.length) % Math.max(commands.length, 1));
  };
  return (
    <>
      <div className={styles.field}>
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search people, records, pages and actions"
          aria-expanded
          aria-controls={LIST}
          aria-activedescendant={chosen && optionId(chosen)}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder="Search people, records, pages"
          value={typed}
          data-autofocus
          onKeyDown={move}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setPlace(0);
          }}
        />
      </div>
      <Options commands={commands} chosen={chosen} onChoose={go} />
      <p className={styles.state} role="status">
        {state}
      </p>
    </>
  );
}

/** Return the commands for a text, and what is to be said about them. */
function useCommands(typed: string, userId: number, scopes: readonly string[]) {
  const text = typed.trim();
  const settled = useSettled(text);
  const [{ data, error, fetching, operation }] = useQuery({
    query: Search,
    variables: { text: settled },
    pause: !settled,
    requestPolicy: 'cache-and-network',
  });
  const records = text && data && settled ? data.search.map(commandOf) : [];
  /** Tell whether a record was found by a text that was typed before. */
  const isOld = (command: Command) => operation?.variables.text !== text && records.includes(command);
  const commands = [...(text ? [] : recentOf(userId)), ...records, ...commandsFor(text, scopes)];
  const isSearching = text !== '' && (text !== settled || fetching);
  const none = text && commands.length === 0 ? 'Nothing matches.' : '';
  return { commands, isOld, state: error && text ? refusalOf(error).text : isSearching ? 'Searching…' : none };
}

interface OptionsProps {
  commands: Command[];
  chosen?: Command;
  onChoose: (command: Command) => void;
}

function Options({ commands, chosen, onChoose }: OptionsProps) {
  const groups = Map.groupBy(commands, ({ group }) => group);
  return (
    <div className={styles.list} role="listbox" id={LIST} aria-label="Results" tabIndex={-1}>
      {[...groups].map(([group, found]) => (
        <div key={group} role="group" aria-label={group}>
          <div className={styles.group} aria-hidden="true">
            {group}
          </div>
          {found.map((command) => (
            <Option key={command.key} command={command} isChosen={command.key === chosen?.key} onChoose={onChoose} />
          ))}
        </div>
      ))}
    </div>
  );
}

interface OptionProps {
  command: Command;
  isChosen: boolean;
  onChoose: (command: Command) => void;
}

function Option({ command, isChosen, onChoose }: OptionProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <div
      ref={row}
      role="option"
      id={optionId(command)}
      aria-selected={isChosen}
      className={styles.option}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onChoose(command)}
    >
      <span>{command.label}</span>
      {command.detail && command.detail !== command.label && <span className={styles.detail}>{command.detail}</span>}
    </div>
  );
}

function optionId({ key }: Command): string {
  return `option-${key.replaceAll(/[^\w-]/g, '-')}`;
}
