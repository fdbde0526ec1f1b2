// One condition: a field, a comparison, and its values.

import { ActionIcon, Select } from '@mantine/core';
import { Icon } from '../../ui/index.ts';
import { CountedTexts } from './CountedTexts.tsx';
import { labelOf, operatorOf } from './labels.ts';
import { type Condition, keptValues, placeOf } from './model.ts';
import type { Field } from './queries.ts';
import styles from './segments.module.css';
import { Values } from './Values.tsx';

interface ConditionRowProps {
  condition: Condition;
  fields: Field[];
  path: string;
  refused?: { field?: string; text: string };
  onChange: (condition: Condition) => void;
  onRemove?: () => void;
}

export function ConditionRow({ condition, fields, path, refused, onChange, onRemove }: ConditionRowProps) {
  const field = fields.find(({ name }) => name === condition.field);
  const label = field ? labelOf(field) : condition.field;
  const isWrong = `${placeOf(refused)}.`.startsWith(`${path}.`);
  const changeField = (name: string | null) => {
    const next = fields.find((each) => each.name === name);
    const op = next?.operators[0];
    if (next && op) onChange({ ...condition, field: next.name, op, values: [], counted: {} });
  };
  return (
    <div className={styles.condition}>
      <Select
        aria-label="Field"
        searchable
        allowDeselect={false}
        data={fields.map((each) => ({ value: each.name, label: labelOf(each) }))}
        value={condition.field}
        onChange={changeField}
      />
      <Select
        aria-label={`Comparison of ${label}`}
        allowDeselect={false}
        data={(field?.operators ?? [condition.op]).map((op) => ({ value: op, label: operatorOf(op, field?.kind) }))}
        value={condition.op}
        onChange={(value) => {
          const op = field?.operators.find((each) => each === value);
          if (op) onChange({ ...condition, op, values: keptValues(condition.op, op, condition.values) });
        }}
      />
      <div className={styles.values}>
        <Values condition={condition} field={field} onChange={(values) => onChange({ ...condition, values })} />
      </div>
      {condition.field === 'message_count' && (
        <CountedTexts counted={condition.counted} onChange={(counted) => onChange({ ...condition, counted })} />
      )}
      {onRemove && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove the condition ${label}`}
          className={styles.remove}
          onClick={onRemove}
        >
          <Icon name="close" size={16} />
        </ActionIcon>
      )}
      {isWrong && (
        <p role="alert" className={styles.wrong}>
          {refused?.text}
        </p>
      )}
    </div>
  );
}
