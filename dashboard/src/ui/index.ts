export { Confirm } from './Confirm.tsx';
export { Cost } from './Cost.tsx';
export { Icon, type IconName } from './icons.tsx';
export { Card, Facts, Heading, Page } from './Page.tsx';
export { Empty, Failure, Notice, Refused, Skeleton } from './states.tsx';
export { type Column, Table } from './Table.tsx';
export { useSettled } from './useSettled.ts';
export { type Act, useAct } from './useAct.ts';
export { Badge, brief, count, instant, type Kind, money, plural, Secret, Time, words } from './values.tsx';
