// Shows the description of the API. Everything from it enters the page as text, never as markup.
const make = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
};

/** A schema as a short example-like text, with references followed once each. */
const shape = (schema, all, depth = 0, seen = new Set()) => {
  if (!schema) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    if (seen.has(name) || depth > 6) return name;
    return shape(all[name], all, depth, new Set(seen).add(name));
  }
  const inner = "  ".repeat(depth + 1);
  const outer = "  ".repeat(depth);
  const several = schema.oneOf || schema.anyOf;
  if (several) return several.map((one) => shape(one, all, depth, seen)).join(" | ");
  if (schema.allOf) return schema.allOf.map((one) => shape(one, all, depth, seen)).join(" & ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type;
  if (schema.items) return `[${shape(schema.items, all, depth, seen)}]`;
  if (schema.properties) {
    const needed = new Set(schema.required || []);
    const lines = Object.entries(schema.properties).map(([name, of]) => {
      const note = of.description ? `  // ${of.description.split("\n")[0]}` : "";
      return `${inner}${name}${needed.has(name) ? "" : "?"}: ${shape(of, all, depth + 1, seen)}${note}`;
    });
    return `{\n${lines.join("\n")}\n${outer}}`;
  }
  return type || "anything";
};

const operation = (method, path, about, schemas) => {
  const details = make("details");
  details.append(make("summary", undefined, make("b", method.toUpperCase()), make("code", path), make("span", about.summary || "")));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    if (about.description) details.append(make("p", about.description));
    if (about.parameters?.length) {
      const rows = about.parameters.map((one) =>
        make("tr", undefined, make("td", one.name + (one.required ? "" : "?")), make("td", one.in), make("td", one.description || "")));
      details.append(make("h3", "Parameters"), make("table", undefined, ...rows));
    }
    for (const [kind, body] of Object.entries(about.requestBody?.content || {})) {
      details.append(make("h3", `Request · ${kind}`), make("pre", shape(body.schema, schemas)));
    }
    for (const [status, answer] of Object.entries(about.responses || {})) {
      if (!status.startsWith("2")) continue;
      details.append(make("h3", `Answer ${status}`));
      for (const [kind, body] of Object.entries(answer.content || {})) {
        details.append(make("p", kind), make("pre", shape(body.schema, schemas)));
      }
    }
  });
  return details;
};

const show = (api) => {
  document.querySelector("#about").textContent = `${api.info.description || ""} Version ${api.info.version}.`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const tag = about.tags?.[0] || "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ text: `${method} ${path} ${about.summary || ""}`.toLowerCase(), element: operation(method, path, about, api.components.schemas) });
    }
  }
  const main = document.querySelector("#operations");
  for (const [tag, entries] of groups) main.append(make("section", undefined, make("h2", tag), ...entries.map((entry) => entry.element)));
  document.querySelector("#find").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const entries of groups.values()) {
      for (const entry of entries) entry.element.hidden = !words.every((word) => entry.text.includes(word));
    }
  });
};

fetch("/api/v1/openapi.json")
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`the server said ${answer.status}`))))
  .then(show)
  .catch((error) => {
    document.querySelector("#about").textContent = `The description could not be loaded: ${error.message}. Reload the page.`;
  });
