import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from '../../../scripts/lib/command.ts'

/** Modules that the generated client asks for, by the versions that it asks for. Debian's packages have their source. */
export const MODULES = [
  { path: 'golang.org/x/net', version: 'v0.7.0', needs: '' },
  {
    path: 'golang.org/x/oauth2',
    version: 'v0.0.0-20190604053449-0f29369cfe45',
    needs: 'require golang.org/x/net v0.7.0',
  },
]
const ZIP = `import pathlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as made:
    for file in pathlib.Path(".").rglob("*"):
        if file.is_file(): made.write(file)
`

/** The address of the modules that {@link goModules} wrote. */
export function proxyOf(folder: string): string {
  return `file://${join(folder, 'go-modules')}`
}

/** Writes the modules as the go command downloads them: their list of versions, go.mod and source. */
export async function goModules(folder: string): Promise<void> {
  for (const { path, version, needs } of MODULES) {
    const versions = join(folder, 'go-modules', path, '@v')
    const staged = join(folder, 'go-staged')
    const source = join(staged, `${path}@${version}`)
    mkdirSync(versions, { recursive: true })
    cpSync(`/usr/share/gocode/src/${path}`, source, {
      recursive: true,
      dereference: true,
      // Tests and App Engine need further modules.
      filter: (file) => !/_test\.go$|appengine.*\.go$/.test(file),
    })
    const mod = `module ${path}\n\ngo 1.17\n\n${needs}\n`
    for (const file of [join(source, 'go.mod'), join(versions, `${version}.mod`)]) writeFileSync(file, mod)
    writeFileSync(join(versions, `${version}.info`), JSON.stringify({ Version: version }))
    writeFileSync(join(versions, 'list'), `${version}\n`)
    await command('/usr/bin/python3', ['-c', ZIP, join(versions, `${version}.zip`)], { cwd: staged })
    rmSync(staged, { recursive: true })
  }
}
