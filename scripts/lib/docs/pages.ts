/* The pages of /docs: which there are, and what each one holds. docs/README.md lists them, in their order. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Marked, Marked as Parser, type Token, type Tokens } from 'marked'
import { ROOT } from '../paths.ts'

/** The page that lists the others. */
export const INDEX = 'docs/README.md'
/** A page of the site has at most this much HTML, so that all of it, with its frame, is below 60 KB. */
const MAX_BODY = 44_000

/** A Markdown file that is served. */
export type Doc = {
  /** Its path in the project. */
  file: string
  /** Its address, without an ending. */
  path: string
  /** What the list calls it, and says of it. */
  title: string
  phrase: string
  /** The heading of the list that it is under. */
  group: string
  text: string
}

/** A page of the site: a file, or a part of a file that is too long for one page. */
export type Part = { doc: Doc; path: string; sections: Section[] }

/** A heading with what is below it, up to the next heading that starts a section. */
export type Section = { title: string; anchor: string; level: number; tokens: Token[]; html: string }

/** All files, as docs/README.md lists them. The list itself is the first. */
export function listDocs(): Doc[] {
  const index = readFileSync(join(ROOT, INDEX), 'utf8')
  const docs: Doc[] = [{ file: INDEX, path: '/docs', title: 'Documentation', phrase: '', group: '', text: index }]
  let group = ''
  for (const line of index.split('\n')) {
    group = /^## (.+)/.exec(line)?.[1] ?? group
    const [, title, link, phrase] = /^- \[(.+?)\]\((\S+)\): (.+)/.exec(line) ?? []
    if (!title || !link || !phrase) continue
    const file = posix.join('docs', link)
    // A file from elsewhere, such as client/README.md, is in the folder of its group, under its title.
    const path = file.startsWith('docs/')
      ? `/${file.replace(/\.md$/, '')}`
      : `/docs/${group.toLowerCase()}/${slugOf(title)}`
    if (docs.some((other) => other.path === path)) throw new Error(`Two pages would be at ${path}`)
    docs.push({ file, path, title, phrase, group, text: readFileSync(join(ROOT, file), 'utf8') })
  }
  return docs
}

/** The addresses of the headings of all files: `docs/guides/sso.md#keys` is where that heading is on the site. */
export type Addresses = Map<string, string>

/** The pages of all files, and the address of each heading. */
export function layOut(docs: Doc[]): { parts: Part[]; addresses: Addresses } {
  const rough = new Parser()
  const addresses: Addresses = new Map()
  const parts = docs.flatMap((doc) => {
    const found = split(doc, sectionsOf(doc, rough))
    addresses.set(doc.file, doc.path)
    for (const part of found)
      for (const { anchor } of part.sections) addresses.set(`${doc.file}#${anchor}`, `${part.path}#${anchor}`)
    return found
  })
  return { parts, addresses }
}

/** A file from heading to heading. The HTML is that of a parser without our links: its length is all that counts. */
function sectionsOf(doc: Doc, rough: Marked): Section[] {
  const sections: Section[] = []
  const seen = new Map<string, number>()
  for (const token of rough.lexer(doc.text)) {
    if (token.type === 'heading') {
      const { text, depth } = token as Tokens.Heading
      const slug = slugOf(text)
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      const anchor = times === 0 ? slug : `${slug}-${times}`
      sections.push({ title: text, anchor, level: depth, tokens: [], html: '' })
    }
    const section = sections.at(-1)
    if (!section) throw new Error(`${doc.file} does not begin with a heading`)
    section.tokens.push(token)
    section.html += rough.parser([token])
  }
  return sections
}

/** Packs whole h2 sections into pages. One that is larger than a page is packed by its h3 sections. */
function split(doc: Doc, sections: Section[]): Part[] {
  const parts: Section[][] = [[]]
  let size = 0
  for (const [i, section] of sections.entries()) {
    const next = sections.findIndex(({ level }, j) => j > i && level <= section.level)
    const whole = sections.slice(i, next === -1 ? undefined : next).reduce((sum, { html }) => sum + html.length, 0)
    if ((section.level === 2 || section.level === 3) && size > 0 && size + whole > MAX_BODY) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(section)
    size += section.html.length
  }
  return parts.map((sections, i) => ({ doc, path: i === 0 ? doc.path : `${doc.path}-${i + 1}`, sections }))
}

/** The anchor of a heading, as GitHub makes it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
