// Icons of 20 pixels; each stands beside its word.

const PATHS = {
  home: 'M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1Z',
  inbox:
    'M3 11.5 5.2 4.8A1 1 0 0 1 6.2 4h7.6a1 1 0 0 1 1 .8L17 11.5V15a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1Zm0 0h4l1 2h4l1-2h4',
  contacts: 'M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-6 7c.4-3.2 2.8-5 6-5s5.6 1.8 6 5',
  campaigns: 'M4 8.5v3l2 .5 1 4h2l-.7-3.6L16 15V5L6.5 8Z',
  sequences: 'M5 5h.01M5 10h.01M5 15h.01M9 5h7M9 10h7M9 15h7',
  templates: 'M5 3.5h7l3 3V16a.5.5 0 0 1-.5.5h-9.5A.5.5 0 0 1 4.5 16V4A.5.5 0 0 1 5 3.5ZM7.5 10h5M7.5 13h5',
  segments: 'M3.5 5h13l-5 6v5l-3-1.5V11Z',
  keywords: 'M4 10h12M6 5h8M7 15h6',
  numbers: 'M7 3.5h6a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1Zm2 10.5h2',
  billing: 'M3.5 5.5h13v9h-13Zm0 3h13M6 12h3',
  settings: 'M4 6h7m3 0h2M4 14h2m3 0h7M12.5 4v4M7.5 12v4',
  developers: 'm7 6-4 4 4 4m6-8 4 4-4 4',
  automations: 'm11 3-6 8h4l-1 6 6-8h-4Z',
  agents:
    'M10 3v2.5M5 5.5h10a1 1 0 0 1 1 1V14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6.5a1 1 0 0 1 1-1Zm2.5 4v.01m5-.01v.01M7.5 12h5M7 15v2m6-2v2',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.5 1.5h-13ZM8.5 17.5h3',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  menu: 'M3 6h14M3 10h14M3 14h14',
  check: 'm4 10.5 4 4 8-9',
  search: 'M9 14A5 5 0 1 0 9 4a5 5 0 0 0 0 10Zm4-1 3.5 3.5',
  close: 'm5 5 10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  back: 'm11 5-5 5 5 5',
  warning: 'M10 4 2.5 16.5h15ZM10 9v3.5m0 2v.01',
  send: 'm3 10 14-6-5.5 13-2-5.5Z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
