import { projectOf } from '../../../http/auth'
import { publicOrigin } from '../../../http/origin'
import type { Visit } from '../../page'

/** The call that asks what a consumer may do, in four languages. Each reads the key from the environment. */
export function askExamples(c: Visit, consumer: string, feature: string) {
  const url = `${publicOrigin(c) ?? 'https://your-deployment.example'}/platform/v1/entitlements/check`
  const project = projectOf(c.get('actor'))
  const body = JSON.stringify({ consumers: [consumer], features: [feature] })
  return [
    [
      'curl',
      'curl',
      `curl ${url} \\
  -H "Authorization: Bearer $PLATFORM_API_KEY" \\
  -H "X-Project-Id: ${project}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    ],
    [
      'typescript',
      'TypeScript',
      `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.PLATFORM_API_KEY}\`,
    'X-Project-Id': '${project}',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${body}),
})
const { data } = await response.json()
console.log(data[0].features[${JSON.stringify(feature)}]) // { allowed, value, reason, … }`,
    ],
    [
      'python',
      'Python',
      `import json, os, urllib.request

request = urllib.request.Request(
    "${url}",
    json.dumps(${body}).encode(),
    {
        "Authorization": "Bearer " + os.environ["PLATFORM_API_KEY"],
        "X-Project-Id": "${project}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["data"][0]["features"][${JSON.stringify(feature)}])`,
    ],
    [
      'go',
      'Go',
      `package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(\`${body}\`)
	request, _ := http.NewRequest("POST", "${url}", body)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLATFORM_API_KEY"))
	request.Header.Set("X-Project-Id", "${project}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}`,
    ],
  ] as const
}
