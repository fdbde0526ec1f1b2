// A field for a date or a time that is kept elsewhere, such as in the address.

import { TextInput, type TextInputProps } from '@mantine/core';
import { useTyped } from './useTyped.ts';

const PAUSE = 800;

interface DateFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type'> {
  type?: 'date' | 'datetime-local';
  value: string;
  onChange: (value: string) => void;
}

/** The browser changes the value at each digit of a year: it is handed over when the field is left, or after a moment. */
export function DateField({ type = 'date', value, onChange, ...rest }: DateFieldProps) {
  const { typed, type: change, finish } = useTyped(value, onChange, PAUSE);
  return (
    <TextInput
      {...rest}
      type={type}
      value={typed}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onBlur={finish}
    />
  );
}
