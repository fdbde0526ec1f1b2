export { Absent } from './Absent.tsx';
export { type BarRow, Bars, Mark, type Part, Progress, type Series, type Tone } from './Bars.tsx';
export { Confirm } from './Confirm.tsx';
export { ConfirmButton } from './ConfirmButton.tsx';
export { Cost } from './Cost.tsx';
export { DateField } from './DateField.tsx';
export { faultsOf } from './faults.ts';
export { Fold } from './Fold.tsx';
export { FormDialog } from './FormDialog.tsx';
export { Icon, type IconName } from './icons.tsx';
export { More } from './More.tsx';
export { Card, Facts, Heading, Page } from './Page.tsx';
export { dialog, part, shown, Unloaded } from './part.tsx';
export { countParts } from './parts.ts';
export { Phone } from './Phone.tsx';
export { localeOf, showIn, timeIn, zoneOf } from './place.ts';
export { grouped } from './phone.ts';
export { isReachable, reload } from './reload.ts';
export { Empty, Failure, Notice, Refused, RefusedChange, Skeleton } from './states.tsx';
export { type Column, Table } from './Table.tsx';
export { useNewDialog } from './useNewDialog.ts';
export { onceOf } from './once.ts';
export { offerUndo } from './undo.tsx';
export { Unsaved } from './Unsaved.tsx';
export { hourIn, instantIn, localIn, midnight } from './zone.ts';
export { useSettled } from './useSettled.ts';
export { useTyped } from './useTyped.ts';
export { useEdits } from './useEdits.ts';
export { type Act, useAct } from './useAct.ts';
export { useOnce } from './useOnce.ts';
export {
  Badge,
  brief,
  capped,
  count,
  instant,
  type Kind,
  money,
  percent,
  plural,
  Secret,
  Time,
  unitPrice,
  words,
} from './values.tsx';
