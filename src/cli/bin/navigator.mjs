// pg asks `navigator` which runtime it is in. Without one, as in Node 20, it makes a Response, which loads all of Node's fetch.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
