// The builder of a filter: groups of conditions, each of which can hold further groups.

import { ActionIcon, Button, Group as Row, Select } from '@mantine/core';
import { Icon } from '../../ui/index.ts';
import { ConditionRow } from './ConditionRow.tsx';
import { GROUPS } from './labels.ts';
import { condition, DEEPEST, type Group, group, isGroup, MATCHES, type Node, placeOf } from './model.ts';
import type { Field } from './queries.ts';
import styles from './segments.module.css';

interface BuilderProps {
  node: Group;
  fields: Field[];
  /** The place of the group in the filter, as a refusal names it. */
  path?: string;
  depth?: number;
  refused?: { field?: string; text: string };
  onChange: (node: Group) => void;
  onRemove?: () => void;
}

export function Builder({ node, fields, path = '', depth = 1, refused, onChange, onRemove }: BuilderProps) {
  const { nodes } = node;
  const setNodes = (next: Node[]) => onChange({ ...node, nodes: next });
  const replace = (at: number) => (next: Node) => setNodes(nodes.map((each, index) => (index === at ? next : each)));
  const remove = (at: number) => () => setNodes(nodes.filter((_, index) => index !== at));
  const isWrong = depth > 1 && [path, `${path}.${node.match}`].includes(placeOf(refused) ?? '');
  const fresh = () => condition('tags', 'has_any');
  return (
    <fieldset className={depth > 1 ? styles.inner : styles.group}>
      <legend className={styles.hidden}>{depth > 1 ? 'Group of conditions' : 'Conditions'}</legend>
      <div className={styles.match}>
        <Select
          w={240}
          aria-label={depth > 1 ? 'How the group counts' : 'How the conditions count'}
          allowDeselect={false}
          data={MATCHES.map((value) => ({ value, label: GROUPS[value] }))}
          value={node.match}
          onChange={(value) => onChange({ ...node, match: MATCHES.find((each) => each === value) ?? 'all' })}
        />
        {onRemove && (
          <ActionIcon variant="subtle" color="gray" aria-label="Remove the group" onClick={onRemove}>
            <Icon name="close" size={16} />
          </ActionIcon>
        )}
      </div>
      {nodes.map((each, index) => {
        const place = `${path}.${node.match}[${index}]`;
        const props = { fields, path: place, refused };
        return isGroup(each) ? (
          <Builder
            key={each.key}
            node={each}
            depth={depth + 1}
            onChange={replace(index)}
            onRemove={remove(index)}
            {...props}
          />
        ) : (
          <ConditionRow
            key={each.key}
            condition={each}
            onChange={replace(index)}
            onRemove={depth > 1 || nodes.length > 1 ? remove(index) : undefined}
            {...props}
          />
        );
      })}
      <Row gap="xs">
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => setNodes([...nodes, fresh()])}
        >
          Add a condition
        </Button>
        {depth < DEEPEST && (
          <Button size="xs" variant="default" onClick={() => setNodes([...nodes, group('any', [fresh()])])}>
            Add a group
          </Button>
        )}
      </Row>
      {isWrong && (
        <p role="alert" className={styles.wrong}>
          {refused?.text}
        </p>
      )}
    </fieldset>
  );
}
