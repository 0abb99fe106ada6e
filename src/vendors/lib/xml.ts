import { MAX_XML_DEPTH } from '../limits'
import { Undecodable } from '../vendor'

/** An element. `text` leaves out the text of its children. */
export type Element = { name: string; text: string; children: Element[] }

// Sticky: each call reads one piece from where the last one ended, so the document is read once.
const TAG = /<(\/?)([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+=(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const SKIPPED = /<\?[^>]*\?>|<!--[\s\S]*?-->/y
const TEXT = /[^<]+/y
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/**
 * Parses the part of XML that Braintree uses: elements, attributes (ignored), text and the five predefined entities.
 * Document types and CDATA are refused, and character references stay as they are: nothing is ever expanded.
 *
 * @returns the root element
 * @throws {Undecodable}
 */
export function parseXml(xml: string): Element {
  const root: Element = { name: '', text: '', children: [] }
  const open: Element[] = [root]
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(xml)
    if (match) at = pattern.lastIndex
    return match
  }
  while (at < xml.length) {
    const here = open.at(-1) as Element
    const words = take(TEXT)
    if (words) here.text += plain(words[0])
    if (words || take(SKIPPED)) continue
    const [, closing, name = '', attributes, empty] = take(TAG) ?? []
    if (name === '' || (closing && (attributes || empty))) throw new Undecodable(`the payload is not XML at ${at}`)
    if (closing) {
      if (open.pop()?.name !== name || open.length === 0)
        throw new Undecodable(`the payload has </${name}> without its start tag`)
      continue
    }
    const element: Element = { name, text: '', children: [] }
    here.children.push(element)
    if (!empty) open.push(element)
    if (open.length > MAX_XML_DEPTH) throw new Undecodable('the payload is nested too deeply')
  }
  const [document] = root.children
  if (open.length !== 1 || root.children.length !== 1 || root.text.trim() !== '' || !document) {
    throw new Undecodable('the payload is not one XML element')
  }
  return document
}

/** The element at a path of names below this one; undefined if a part of the path is missing. */
export function childAt(element: Element | undefined, ...path: string[]): Element | undefined {
  let here = element
  for (const name of path) here = here?.children.find((child) => child.name === name)
  return here
}

/** The text of the element at a path, trimmed; null if it is empty or missing. */
export function textAt(element: Element | undefined, ...path: string[]): string | null {
  return childAt(element, ...path)?.text.trim() || null
}

function plain(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
