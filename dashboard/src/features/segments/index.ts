export { SegmentNames } from './queries.ts';
