// Templates that a text begins with: found by their names, and filled in with what is known of the contact.

import { Button, Combobox, useCombobox } from '@mantine/core';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { useSettled } from '../../ui/index.ts';
import styles from './inbox.module.css';
import { ComposerTemplates } from './queries.ts';

const refuse = () => ({ body: undefined, problem: 'The code of this part of the page could not be loaded.' });

interface TemplateMenuProps {
  contact: { id: number; label: string };
  onChoose: (body: string) => void;
}

export function TemplateMenu({ contact, onChoose }: TemplateMenuProps) {
  const client = useClient();
  const mayRead = useMay('campaigns:read');
  const [search, setSearch] = useState('');
  const [problem, setProblem] = useState('');
  const menu = useCombobox({ onDropdownOpen: () => menu.focusSearchInput(), onDropdownClose: () => setSearch('') });
  const isOpen = menu.dropdownOpened;
  useKeys((key, event) => {
    if (key !== 't') return;
    event.preventDefault();
    menu.openDropdown();
  });
  const variables = { search: useSettled(search).trim() || null };
  const [{ data }] = useQuery({ query: ComposerTemplates, variables, pause: !isOpen || !mayRead });
  if (!mayRead) return null;
  const found = data?.templates.nodes ?? [];
  const choose = async (value: string) => {
    menu.closeDropdown();
    const body = found.find(({ id }) => String(id) === value)?.body ?? '';
    const { fillIn } = await import('./filling.ts').catch(() => ({ fillIn: refuse }));
    const filled = await fillIn(client, body, contact);
    setProblem(filled.problem ?? '');
    if (filled.body) onChoose(filled.body);
  };
  return (
    <>
      {problem && (
        <span className={styles.soft} role="status" style={{ whiteSpace: 'normal' }}>
          {problem}
        </span>
      )}
      <Combobox store={menu} position="top-end" width={280} onOptionSubmit={(value) => void choose(value)}>
        <Combobox.Target targetType="button">
          <Button size="xs" variant="default" onClick={() => menu.toggleDropdown()}>
            Template
          </Button>
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Search
            aria-label="Search templates"
            placeholder="Search templates"
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          <Combobox.Options aria-label="Templates">
            {found.map(({ id, name }) => (
              <Combobox.Option key={id} value={String(id)}>
                {name}
              </Combobox.Option>
            ))}
            {data && found.length === 0 && (
              <Combobox.Empty>{search ? 'No template matches.' : 'No template is saved yet.'}</Combobox.Empty>
            )}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </>
  );
}
