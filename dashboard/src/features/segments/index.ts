export { Conditions } from './Conditions.tsx';
export { condition, filterOf, group, type Group, isComplete, treeOf } from './model.ts';
export { SegmentNames, SegmentSize } from './queries.ts';
