// The entry of the GraphQL explorer: GraphiQL, with the schema of this service.

import './theme/tokens.css';
import 'graphiql/style.css';
import './features/developers/explorer.css';
import { createRoot } from 'react-dom/client';
import { Explorer } from './features/developers/Explorer.tsx';

const place = document.getElementById('root');
if (place) createRoot(place).render(<Explorer />);
