export { type Actor, useNames } from './useNames.ts';
