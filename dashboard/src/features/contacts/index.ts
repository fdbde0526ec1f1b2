export { ContactPicker, type PickedContact, useNewestContact } from './ContactPicker.tsx';
export { type ContactsSearch, oneOf, STAGES } from './search.ts';
