// A document of the repository as a page: its tokens become elements, so nothing in it is read as HTML.

import { lexer, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { Code } from './Code.tsx';
import styles from './developers.module.css';

/** The pages that show the documents which texts refer to. */
const PAGES: Record<string, string> = {
  'webhooks.md': '/docs/webhooks',
  'events.md': '/docs/webhooks#events',
  'tools.md': '/docs/tools',
  'errors.md': '/docs/errors',
  'rest.md': '/docs/rest',
  'rest-reference.md': '/docs/rest',
};

/** Show a document below the heading of the page. */
export function Markdown({ text }: { text: string }) {
  const tokens = lexer(text).filter((token) => token.type !== 'heading' || (token as Tokens.Heading).depth > 1);
  return <div className={styles.text}>{blocks(tokens)}</div>;
}

function blocks(tokens: Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{block(token as Tokens.Generic)}</Fragment>);
}

function block(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case 'heading':
      return heading(token as Tokens.Heading);
    case 'paragraph':
      return <p>{inlines(token.tokens)}</p>;
    case 'text':
      return inlines(token.tokens ?? [token as Token]);
    case 'code':
      return <Code text={token.text} label={labelOf(token as Tokens.Code)} />;
    case 'list':
      return list(token as Tokens.List);
    case 'table':
      return table(token as Tokens.Table);
    default:
      return null;
  }
}

function heading({ depth, text, tokens }: Tokens.Heading): ReactNode {
  const id = text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return depth === 2 ? <h2 id={id}>{inlines(tokens)}</h2> : <h3 id={id}>{inlines(tokens)}</h3>;
}

function labelOf({ lang, text }: Tokens.Code): string {
  return `${lang?.split(' ')[0] || 'text'}: ${text.slice(0, 40)}`;
}

function list({ ordered, items }: Tokens.List): ReactNode {
  const rows = items.map((item, index) => <li key={index}>{blocks(item.tokens)}</li>);
  return ordered ? <ol>{rows}</ol> : <ul>{rows}</ul>;
}

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    <section className={styles.wide} tabIndex={0} aria-label={header.map(({ text }) => text).join(', ')}>
      <table>
        <thead>
          <tr>
            {header.map(({ text, tokens }, index) =>
              text ? (
                <th key={index} scope="col">
                  {inlines(tokens)}
                </th>
              ) : (
                <td key={index} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            <tr key={index}>
              {cells.map(({ tokens }, place) => (
                <td key={place}>{inlines(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inlines(tokens: Token[] = []): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{inline(token as Tokens.Generic)}</Fragment>);
}

function inline(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case 'codespan':
      return <code>{token.text}</code>;
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'link':
      return link(token as Tokens.Link);
    default:
      return token.tokens ? inlines(token.tokens) : token.text;
  }
}

function link({ href, tokens }: Tokens.Link): ReactNode {
  if (href.startsWith('https:'))
    return (
      <a href={href} rel="noopener noreferrer">
        {inlines(tokens)}
      </a>
    );
  const page = href.startsWith('#') ? href : PAGES[href.split('#')[0] ?? ''];
  return page ? <a href={page}>{inlines(tokens)}</a> : inlines(tokens);
}
