/* The HTML of the pages of /docs, in the console's look. */
import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import type { Addresses, Doc, Part } from './pages.ts'

/** Addresses of the style sheets, the scripts and the icon. */
export type Look = { styles: string[]; script: string; theme: string; icon: string }

/** A page, with the list of all pages beside it. */
export function pageOf(part: Part, { docs, parts, addresses, look }: Site): string {
  const { doc } = part
  const marked = parserFor(part, addresses)
  const body = part.sections.map(({ tokens }) => marked.parser(tokens)).join('')
  const head = part.path === doc.path ? '' : `<h1>${escaped(doc.title)}, continued</h1>\n`
  const title = doc.path === '/docs' ? 'Documentation' : `${doc.title} · Documentation`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<script src="${look.theme}"></script>
${look.styles.map((style) => `<link rel="stylesheet" href="${style}">`).join('\n')}
<link rel="icon" href="${look.icon}">
<link rel="alternate" type="text/markdown" href="${twinOf(doc)}">
<script src="${look.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="frame">
<header class="bar"><button type="button" popovertarget="side" aria-label="Menu"><span aria-hidden="true">☰</span></button>
<a class="brand" href="/docs">Platform API</a></header>
<nav id="side" class="side" aria-label="Documentation" popover="auto">
<a class="brand" href="/docs">Platform API</a>
<div class="docs-search" hidden><label for="docs-search" class="unseen">Search the documentation</label>
<input id="docs-search" type="search" placeholder="Search" autocomplete="off"><ul id="docs-found" aria-live="polite"></ul></div>
<div class="sections" tabindex="0">${listOf(docs, doc)}</div>
<div class="foot sections"><ul><li><a href="/console">Console</a></li><li><a href="/console/reference">API reference</a></li></ul></div>
</nav>
<main id="main" class="doc" tabindex="-1">
${head}${contentsOf(part, parts, addresses)}${body}
${aroundOf(part, parts)}<p class="quiet"><a href="${twinOf(doc)}">This page as Markdown</a></p>
</main>
</div>
</body>
</html>
`
}

export type Site = { docs: Doc[]; parts: Part[]; addresses: Addresses; look: Look }

/** The address of the Markdown of a page. */
export function twinOf({ path }: Doc): string {
  return path === '/docs' ? '/docs/index.md' : `${path}.md`
}

/** A file's Markdown, with links that work where it is served. */
export function twinTextOf(doc: Doc, docs: Doc[]): string {
  return doc.text.replace(/\]\(([^)\s:#]+)(#[^)\s]*)?\)/g, (all, link: string, anchor = '') => {
    const file = posix.join(posix.dirname(doc.file), link)
    const found = docs.find((other) => other.file === file)
    return found ? `](${twinOf(found)}${anchor})` : all
  })
}

function parserFor(part: Part, addresses: Addresses): Marked {
  const anchors = part.sections.map(({ anchor }) => anchor)
  return new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const anchor = anchors.shift() ?? ''
        const inner = this.parser.parseInline(tokens)
        const link = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this heading">#</a>`
        return `<h${depth} id="${anchor}">${inner}${link}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens)
        const to = addressOf(href, part.doc, addresses)
        return to === null ? inner : `<a href="${escaped(to)}">${inner}</a>`
      },
      table(token: Tokens.Table) {
        const head = token.header.map(({ tokens }) => this.parser.parseInline(tokens))
        // A table without headings has none, instead of empty ones.
        const tag = head.every((cell) => cell === '') ? 'td' : 'th'
        const row = (cells: string[], of: string) =>
          `<tr>${cells.map((cell) => (cell === '' ? '<td></td>' : `<${of}>${cell}</${of}>`)).join('')}</tr>`
        const rows = token.rows.map((cells) =>
          row(
            cells.map(({ tokens }) => this.parser.parseInline(tokens)),
            'td',
          ),
        )
        const top = tag === 'th' ? `<thead>${row(head, 'th')}</thead>` : ''
        return `<div class="wide" role="group" aria-label="Table" tabindex="0"><table>${top}<tbody>${rows.join('\n')}</tbody></table></div>\n`
      },
      code({ text }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`
      },
      image({ href, text }: Tokens.Image) {
        const src = posix.join('/', posix.dirname(part.doc.file), href)
        return `<img src="${escaped(src)}" alt="${escaped(text)}" loading="lazy">`
      },
    },
  })
}

/** Where a link of a file leads on the site; `null` for a file of the project that is not served. */
function addressOf(href: string, doc: Doc, addresses: Addresses): string | null {
  if (/^(https?:|mailto:|\/)/.test(href)) return href
  const [link = '', anchor] = href.split('#')
  const file = link === '' ? doc.file : posix.join(posix.dirname(doc.file), link)
  if (file === 'README.md') return '/docs'
  if (/^docs\/.*\.(json|yml)$/.test(file)) return `/${file}`
  return addresses.get(anchor === undefined ? file : `${file}#${anchor}`) ?? null
}

/** The list of all pages, in its groups. */
function listOf(docs: Doc[], current: Doc): string {
  const groups = [...new Set(docs.map(({ group }) => group))].filter((group) => group !== '')
  const item = (doc: Doc) =>
    `<li><a href="${doc.path}"${doc === current ? ' aria-current="page"' : ''}>${escaped(doc.title)}</a></li>`
  return groups
    .map((group) => {
      const items = docs.filter((doc) => doc.group === group).map(item)
      return `<details class="group" open><summary>${group}</summary><ul aria-label="${group}">${items.join('')}</ul></details>`
    })
    .join('\n')
}

/** The h2 headings of a file, if it has several. They may be on other pages of it. */
function contentsOf({ doc }: Part, parts: Part[], addresses: Addresses): string {
  const own = parts.filter((other) => other.doc === doc).flatMap(({ sections }) => sections)
  const headings = own.filter(({ level }) => level === 2)
  if (headings.length < 3 || doc.path === '/docs') return ''
  const items = headings.map(({ title, anchor }) => {
    const to = addresses.get(`${doc.file}#${anchor}`) ?? ''
    return `<li><a href="${to}">${plain(title)}</a></li>`
  })
  return `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>\n`
}

/** Links to the parts of a long file before this page and after it. */
function aroundOf(part: Part, parts: Part[]): string {
  const own = parts.filter(({ doc }) => doc === part.doc)
  const at = own.indexOf(part)
  const links = [
    ['Back', own[at - 1]],
    ['Continue', own[at + 1]],
  ] as const
  const made = links.map(([label, to]) =>
    to ? `<a href="${to.path}">${label}: ${plain(to.sections[0]?.title)}</a>` : '',
  )
  return made.some((link) => link !== '') ? `<p class="around">${made.join(' ')}</p>\n` : ''
}

/** A heading without its Markdown. */
function plain(title = ''): string {
  return escaped(title.replace(/[`*]/g, ''))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
