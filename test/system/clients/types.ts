/** Imports every module, finds a method for each call, and reads the example of each type. */
export const TYPES_IN_PYTHON = `import importlib, json, pkgutil, re, platform_api
modules = [one.name for one in pkgutil.walk_packages(platform_api.__path__, 'platform_api.')]
for module in modules: importlib.import_module(module)
document = json.load(open('openapi-3.0.json'))
ids = [call['operationId'] for path in document['paths'].values() for call in path.values()]
apis = [getattr(platform_api, name) for name in dir(platform_api) if name.endswith('Api')]
for id in ids:
    name = re.sub('[A-Z]', lambda capital: '_' + capital[0].lower(), id)
    assert any(hasattr(api, name) for api in apis), id
client, read = platform_api.ApiClient(), 0
for name, example in document['components']['examples'].items():
    model = name if hasattr(platform_api, name) else 'Model' + name  # Import is a word of Python's
    if document['components']['schemas'].get(name, {}).get('type') != 'object': continue
    response = type('Response', (), {'data': json.dumps(example['value'])})
    made = client.deserialize(response, model)
    assert isinstance(made, getattr(platform_api, model)), name
    read += 1
assert read > 150 and len(ids) > 150
print(f'{len(ids)} calls and {len(modules)} modules are there, and {read} examples can be read')
`

type Document = {
  components: { schemas: Record<string, { type?: string }>; examples: Record<string, { value: unknown }> }
}

/** A program that reads the example of each type. */
export function typesInGo(document: string): string {
  const { schemas, examples } = (JSON.parse(document) as Document).components
  const objects = Object.entries(examples).filter(([name]) => schemas[name]?.type === 'object')
  if (objects.length < 150) throw new Error(`only ${objects.length} examples`)
  const reads = objects.map(
    ([name, { value }]) => `\tread(${JSON.stringify(JSON.stringify(value))}, &platform.${name}{})`,
  )
  return `package main

import (
	"encoding/json"
	"fmt"

	"github.com/acme/platform"
)

var done int

func read(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(fmt.Sprintf("%T: %v: %s", into, err, text))
	}
	done++
}

func main() {
${reads.join('\n')}
	fmt.Println("every call and type passes go vet, and", done, "examples can be read")
}
`
}
