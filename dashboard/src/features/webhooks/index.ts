export { Webhooks } from './Webhooks.tsx';
