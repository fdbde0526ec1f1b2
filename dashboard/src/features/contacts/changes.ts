// What a person changed in the form of a contact: nothing else is sent, so that the changes of others stay.

import type { VariablesOf } from '../../graphql/index.ts';
import type { UpdateContact } from './mutations.ts';
import type { ContactItem } from './queries.ts';

export type ContactChanges = VariablesOf<typeof UpdateContact>['changes'];

interface CustomValue {
  key: string;
  value: string;
}

export type Known = ContactItem & { custom_fields: CustomValue[] };

export type Values = Pick<ContactItem, 'phone' | 'first_name' | 'last_name' | 'email' | 'tags' | 'pipeline_stage'> & {
  custom_fields: CustomValue[];
};

export interface Edited {
  changes: ContactChanges;
  added: string[];
  removed: string[];
}

/** Return the differences between a contact as the form began with it, and the values of the form. */
export function editedOf(known: Known, values: Values): Edited {
  const { tags, custom_fields, ...plain } = values;
  const changed = Object.entries(plain).filter(([name, value]) => value !== known[name as keyof typeof plain]);
  const custom = custom_fields.filter(({ key, value }) => value !== valueOf(known, key));
  return {
    changes: { ...Object.fromEntries(changed), ...(custom.length > 0 && { custom_fields: custom }) },
    added: tags.filter((tag) => !known.tags.includes(tag)),
    removed: known.tags.filter((tag) => !tags.includes(tag)),
  };
}

function valueOf({ custom_fields }: Known, key: string): string {
  return custom_fields.find((each) => each.key === key)?.value ?? '';
}
