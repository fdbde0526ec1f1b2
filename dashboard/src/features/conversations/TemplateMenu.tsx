// Templates that a text begins with.

import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { ComposerTemplates } from './queries.ts';

interface TemplateMenuProps {
  contact: { label: string };
  onChoose: (body: string) => void;
}

export function TemplateMenu({ onChoose }: TemplateMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const mayRead = useMay('campaigns:read');
  useKeys((key, event) => {
    if (key !== 't') return;
    event.preventDefault();
    setOpen(true);
  });
  const [{ data }] = useQuery({ query: ComposerTemplates, variables: {}, pause: !isOpen || !mayRead });
  if (!mayRead) return null;
  const found = data?.templates.nodes ?? [];
  return (
    <Menu opened={isOpen} onChange={setOpen} position="top-end" width={280}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Template
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {found.map(({ id, name, body }) => (
          <Menu.Item key={id} onClick={() => onChoose(body)}>
            {name}
          </Menu.Item>
        ))}
        {data && found.length === 0 && <Menu.Label>No template is saved yet.</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}
