// The parts of the page of an AI agent, as the address names them.

export const TABS = ['try', 'knowledge', 'settings', 'runs'] as const;

export type Tab = (typeof TABS)[number];
