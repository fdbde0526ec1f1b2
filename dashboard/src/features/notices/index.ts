export { Bell } from './Bell.tsx';
export { useNotices } from './unread.ts';
