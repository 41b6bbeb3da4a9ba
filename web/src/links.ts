// The list of links as the server tells it (docs/viewer-protocol.md).
import { array, object, oneOf, number, string } from './json';

export interface LinkInfo {
  id: string;
  rights: 'own' | 'hand' | 'watch';
  label: string;
  expires: number | null; // seconds since 1970; null = not before the server ends
  state: 'open' | 'expired' | 'revoked';
  pages: number; // open by it now
  yours: boolean; // this page came by it
  token: string; // '' for owners' links, which are not told
}

export interface LinkList {
  links: LinkInfo[];
  origins: string[]; // by which other machines reach the server; none if they cannot
}

export function parseLinks(json: unknown): LinkList {
  const list = object(json);
  return {
    links: array(list.links).map((value) => {
      const link = object(value);
      return {
        id: string(link.id),
        rights: oneOf(link.rights, ['own', 'hand', 'watch'], 'watch'),
        label: string(link.label),
        expires: typeof link.expires === 'number' ? link.expires : null,
        state: oneOf(link.state, ['open', 'expired', 'revoked'], 'expired'),
        pages: number(link.pages),
        yours: link.yours === true,
        token: string(link.token),
      };
    }),
    origins: array(list.origins).map((origin) => string(origin)),
  };
}
