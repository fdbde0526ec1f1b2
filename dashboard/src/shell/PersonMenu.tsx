// The menu of the signed-in person: appearance, keys, account, sign-out.

import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useViewer } from '../graphql/index.ts';
import styles from './shell.module.css';
import { showKeys, showSignOut } from './shown.ts';
import { countUnsent, signOut } from './signOut.ts';

const APPEARANCES = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

export function PersonMenu() {
  const { id, email, first_name, company_name } = useViewer();
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
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          {APPEARANCES.map(([value, label]) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => showKeys.set(true)} rightSection="?">
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component={Link} to="/settings/profile">
          Your settings
        </Menu.Item>
        <Menu.Item onClick={() => (countUnsent(id) > 0 ? showSignOut.set(true) : signOut())}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
