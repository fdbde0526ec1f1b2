// The public pages for developers.

export interface Place {
  path: string;
  label: string;
  about: string;
}

export const PLACES: Place[] = [
  { path: '/docs/graphql', label: 'GraphQL', about: 'Write and run operations, with completion and documentation.' },
  { path: '/docs/rest', label: 'REST', about: 'Every endpoint, with examples in curl, Python and JavaScript.' },
  {
    path: '/docs/webhooks',
    label: 'Webhooks',
    about: 'The events that are posted to your address, and how to verify them.',
  },
  { path: '/docs/tools', label: 'Tools', about: 'The tools for AI assistants, and how to connect one.' },
  { path: '/docs/errors', label: 'Errors', about: 'The meaning of each error code, and the remedy.' },
];
