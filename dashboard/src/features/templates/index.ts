export { ContactPreview } from './ContactPreview.tsx';
export { Findings } from './Findings.tsx';
export { LONGEST, TextEditor } from './TextEditor.tsx';
export { TextCost } from './TextCost.tsx';
