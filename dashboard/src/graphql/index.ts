export { connect } from './client.ts';
export { isUnanswered, type Refusal, refusalOf } from './errors.ts';
export { type FragmentOf, graphql, type ResultOf, type VariablesOf } from './graphql.ts';
export { changed, connection, follow, type Update, useUpdates } from './live.ts';
export { type Connection, type Listing, type Pages, usePages } from './pages.ts';
export { type Conversation, ConversationRow, type Message, MessageRow } from './rows.ts';
export { announceSignIn, rememberUser, session } from './session.ts';
export { createStore, type Store, useStore } from './store.ts';
export { useMay, useViewer, type Viewer, ViewerContext, ViewerQuery } from './viewer.ts';
