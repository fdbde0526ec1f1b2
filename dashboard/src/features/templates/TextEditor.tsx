// The field for a text with placeholders: what it costs and what is wrong with it is shown while typing.

import { Button, Menu, Textarea } from '@mantine/core';
import { useRef } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Compose } from './Compose.tsx';
import { Findings } from './Findings.tsx';
import { TextPlaceholders } from './queries.ts';
import styles from './templates.module.css';
import { TextCost } from './TextCost.tsx';

export const LONGEST = 1600;

interface TextEditorProps {
  label: string;
  body: string;
  error?: string;
  isReadOnly?: boolean;
  /** Whether it may be the first promotional text to a person, who must be told how to opt out. */
  isFirst?: boolean;
  /** Whether typographic characters are replaced; without it as the account sets it. */
  isSmartEncoded?: boolean;
  minRows?: number;
  onChange: (body: string) => void;
}

export function TextEditor({
  label,
  body,
  error,
  isReadOnly,
  isFirst,
  isSmartEncoded,
  minRows = 5,
  onChange,
}: TextEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const insert = (text: string) => {
    const { selectionStart: start, selectionEnd: end } = field.current ?? { selectionStart: 0, selectionEnd: 0 };
    onChange(body.slice(0, start) + text + body.slice(end));
    window.requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(start + text.length, start + text.length);
    });
  };
  const tooLong = body.length > LONGEST && `A text has at most ${LONGEST} characters; this one has ${body.length}.`;
  return (
    <div className={styles.editor}>
      <Textarea
        ref={field}
        label={label}
        autosize
        minRows={minRows}
        maxRows={16}
        dir="auto"
        readOnly={isReadOnly}
        value={body}
        error={error ?? tooLong}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div className={styles.foot}>
        <TextCost body={body} isSmartEncoded={isSmartEncoded} />
        {!isReadOnly && (
          <div className={styles.acts}>
            <Compose body={body} onChoose={onChange} />
            <PlaceholderMenu onChoose={insert} />
          </div>
        )}
      </div>
      <Findings body={body} isFirst={isFirst} />
    </div>
  );
}

function PlaceholderMenu({ onChoose }: { onChoose: (text: string) => void }) {
  const mayRead = useMay('campaigns:read');
  const [{ data }] = useQuery({ query: TextPlaceholders, pause: !mayRead });
  if (!mayRead) return null;
  return (
    <Menu position="bottom-end" width={320} returnFocus={false}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Insert a placeholder
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={styles.menu}>
        {data?.placeholders.map(({ name, description, example, fallback }) => (
          <Menu.Item key={name} onClick={() => onChoose(`{${name}}`)}>
            <code>{`{${name}}`}</code>
            <span className={styles.soft}>
              {description} Such as {example}
              {fallback ? `; ${fallback} where it is not known` : ''}.
            </span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
