// The menu of the signed-in person: appearance, keys, account, sign-out.

import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useViewer } from '../graphql/index.ts';
import styles from './shell.module.css';
import { showKeys } from './shown.ts';

const APPEARANCES = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

export function PersonMenu() {
  const { email, first_name, company_name } = useViewer();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu width={240} position="top-start" withinPortal>
      <Menu.Target>
        <UnstyledButton className={styles.link} style={{ height: 48 }}>
          <span style={{ minWidth: 0, flex: 1 }}>
            <strong style={{ display: 'block', color: 'var(--text)', fontWeight: 600 }}>
              {company_name || 'Your account'}
            </strong>
            <span style={{ display: 'block', overflow: 'hidden', textOverflow: 'ellipsis', fontSize: 12 }}>
              {first_name || email}
            </span>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Appearance</Menu.Label>
        {APPEARANCES.map(([value, label]) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            onClick={() => setColorScheme(value)}
          >
            {colorScheme === value ? `✓ ${label}` : label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => showKeys.set(true)} rightSection="?">
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component={Link} to="/settings/profile">
          Your settings
        </Menu.Item>
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Send the form that ends the session: its token came with the page. What one person typed is not left for the next. */
function signOut(): void {
  localStorage.clear();
  const token = document.querySelector<HTMLMetaElement>('meta[name="form-token"]');
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/logout';
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'form_token';
  field.value = token?.content ?? '';
  form.append(field);
  document.body.append(form);
  form.submit();
}
