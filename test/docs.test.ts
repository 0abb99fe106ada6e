import { describe, expect, it } from 'vitest'
import { ROOMS, SOURCES } from './sources'
import { allBlocks, isLeftOut, LEFT_OUT, linesOf, USED } from './system/guide-blocks'

const PAGES = import.meta.glob<string>(['../*.md', '../docs/**/*.md', '../bench/*.md', '../client/*.md'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
const FILES = Object.keys(import.meta.glob(['../{src,test,scripts,bench,client}/**', '!**/node_modules/**'])).map(
  (path) => (path.startsWith('./') ? path.replace('./', 'test/') : path.replace('../', '')),
)
/** What the globs do not find: what a command writes, Vite's own configuration, and this file. */
const ELSEWHERE = ['bench/bench.json', 'vitest.config.ts', 'test/docs.test.ts']
/** Files that join the rooms. */
const ENTRIES = ['app', 'index']

it('names only files and folders that are there', () => {
  const named = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/`((?:src|test|scripts|bench|client)\/[\w./-]+)`/g)].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(50)
  const isThere = (path: string) =>
    ELSEWHERE.includes(path) || FILES.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  expect(named.filter(({ path }) => !isThere(path)).map(({ page, path }) => `${page}: ${path}`)).toEqual([])
})

it('names only code that is there, by the end of its path too', () => {
  const named = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(100)
  const isThere = (path: string) => [...FILES, ...ELSEWHERE].some((file) => `/${file}`.endsWith(`/${path}`))
  expect(named.filter(({ path }) => !isThere(path)).map(({ page, path }) => `${page}: ${path}`)).toEqual([])
})

it('shows the rooms in their order, from the highest to the lowest, and says what each one does', () => {
  const text = PAGES['../docs/contribute/architecture.md'] ?? ''
  const rows = [...text.matchAll(/^ {4}([\w-]+(?: --- [\w-]+)*)$/gm)].flatMap(([, row = '']) => row.split(' --- '))
  expect(rows.toReversed()).toEqual(ROOMS)
  const [, table = ''] = /^\| room \|.*?\n(.*?)\n\n/ms.exec(text) ?? []
  const said = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, room]) => room),
  )
  expect(said.toSorted()).toEqual(ROOMS.filter((room) => !ENTRIES.includes(room)).toSorted())
})

describe('docs/operate/security.md', () => {
  const text = PAGES['../docs/operate/security.md'] ?? ''
  const part = (title: string) => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const rowsIn = (table: string) =>
    [...table.matchAll(/^\| (\d[^|]*) \|(.*)\|$/gm)].map(([, ids = '', rest = '']) => ({ ids, rest }))
  /** `1.2.6 – 1.2.8, 1.3.1` stands for four ids. */
  const idsIn = (cell: string) =>
    cell.split(', ').flatMap((one) => {
      const [first = '', last = first] = one.split(' – ')
      const [chapter, section, from] = first.split('.')
      const to = Number(last.split('.').at(-1))
      return Array.from({ length: to - Number(from) + 1 }, (_, i) => `${chapter}.${section}.${Number(from) + i}`)
    })
  const verdicts = rowsIn(part('The requirements')).flatMap(({ ids, rest }) => {
    const [, verdict = ''] = rest.split(' | ')
    return idsIn(ids).map((id) => ({ id, verdict: verdict.replaceAll('*', ''), rest }))
  })

  it('has each requirement of levels 1 and 2 once, and says how many are met', () => {
    expect(new Set(verdicts.map(({ id }) => id)).size).toBe(253)
    expect(verdicts).toHaveLength(253)
    for (const verdict of ['met', 'not met', 'not applicable']) {
      const [, one, two, both] =
        new RegExp(`^\\| ${verdict} \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$`, 'm').exec(text) ?? []
      expect([verdict, Number(both)]).toEqual([verdict, verdicts.filter((it) => it.verdict === verdict).length])
      expect(Number(one) + Number(two)).toBe(Number(both))
    }
  })

  it('names a file or a page for each that is met, and explains each that is not', () => {
    expect(
      verdicts.filter(
        ({ verdict, rest }) => verdict === 'met' && !/`(src|test|scripts)\/|`wrangler\.toml`|\]\(/.test(rest),
      ),
    ).toEqual([])
    const explained = rowsIn(part('Not met')).flatMap(({ ids }) => idsIn(ids))
    const missing = verdicts.filter(({ verdict }) => verdict === 'not met').map(({ id }) => id)
    expect(explained.toSorted()).toEqual(missing.toSorted())
  })

  it('lists each file of src/ that uses cryptography', () => {
    const uses = /\bcrypto\.(subtle|getRandomValues)|\b(hmac|randomHex)\(/
    const libraries = ['oauth4webapi', '@simplewebauthn/server']
    const listed = [...part('Keys and algorithms').matchAll(/`src\/([\w/.-]+)`/g)].map(([, path = '']) => path)
    const using = SOURCES.filter(
      ({ code, imports }) =>
        uses.test(code) || imports.some(({ target, typeOnly }) => !typeOnly && libraries.includes(target)),
    ).map(({ path }) => path)
    expect(using.length).toBeGreaterThan(20)
    expect(
      using.filter((path) => !listed.some((one) => path === one || (one.endsWith('/') && path.startsWith(one)))),
    ).toEqual([])
  })
})

it('links only to pages and headings that are there', () => {
  const anchorsOf = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    )
  const dead = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/\]\(([^)\s:]*?\.md)?(#[^)\s]+)?\)/g)].flatMap(([link, file, anchor]) => {
      if (file === undefined && anchor === undefined) return []
      const folder = page.split('/').slice(0, -1).join('/')
      const target = file === undefined ? page : resolve(folder, file)
      const found = PAGES[target]
      if (found === undefined) return [`${page}: ${link}`]
      return anchor === undefined || anchorsOf(found).includes(anchor.slice(1)) ? [] : [`${page}: ${link}`]
    }),
  )
  expect(dead).toEqual([])
})

function resolve(folder: string, name: string): string {
  const parts = folder.split('/')
  for (const step of name.split('/')) {
    if (step === '..' && parts.at(-1) !== '..') parts.pop()
    else if (step !== '.') parts.push(step)
  }
  return parts.join('/')
}

it('has each page of docs/ in its list, docs/README.md', () => {
  const [list = ''] = Object.entries(PAGES).flatMap(([page, text]) => (page === '../docs/README.md' ? [text] : []))
  const pages = Object.keys(PAGES).filter((page) => page.startsWith('../docs/') && page !== '../docs/README.md')
  expect(pages.filter((page) => !list.includes(`](${page.replace('../docs/', '')}): `))).toEqual([])
})

describe('the code of the README, docs/start and docs/guides', () => {
  const pages = Object.entries(PAGES).filter(([page]) => /^\.\.\/(README|docs\/(start|guides)\/[\w-]+)\.md$/.test(page))
  const blocks = pages.flatMap(([path, text]) => {
    const page = path.split('/').at(-1)?.replace('.md', '') ?? ''
    // Commands are run line by line.
    const parts = ({ language, code }: { language: string; code: string }) =>
      language === 'sh' ? linesOf(code) : [code]
    return allBlocks(text).flatMap((block) => parts(block).map((code) => ({ page, language: block.language, code })))
  })

  it('is run by a test of the system, or listed with what it would need', () => {
    expect(blocks.length).toBeGreaterThan(150)
    const untried = blocks.filter(({ page, language, code }) => {
      return language !== 'sh' && USED[page]?.[language] === undefined && !isLeftOut(page, language, code)
    })
    expect(untried).toEqual([])
  })

  it('is all that the lists are about', () => {
    const used = Object.entries(USED).flatMap(([page, languages]) =>
      Object.keys(languages).map((one) => `${page} ${one}`),
    )
    const there = new Set(blocks.map(({ page, language }) => `${page} ${language}`))
    expect(used.filter((one) => !there.has(one))).toEqual([])
    const begins = LEFT_OUT.flatMap(({ begins, ...of }) => begins.map((one) => ({ ...of, begins: one })))
    const isThere = (of: (typeof begins)[number]) =>
      blocks.some(
        ({ page, language, code }) => page === of.page && language === of.language && code.startsWith(of.begins),
      )
    expect(begins.filter((of) => !isThere(of))).toEqual([])
  })
})

it('begins with a README of at most 90 lines', () => {
  expect(PAGES['../README.md']?.trimEnd().split('\n').length).toBeLessThanOrEqual(90)
})
