# docs/deployment.md says how to renew the digest.
FROM node:22-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9 AS node

FROM node AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.types.json ./
COPY .ci ./.ci
COPY src ./src
COPY jobs ./jobs
RUN npm run build

FROM node
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc LICENSE ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY src/cli/bin ./src/cli/bin
COPY config ./config
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# Of `lockstep start`, if its health checks are at this address.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4040/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/src/cli/bin/lockstep.mjs", "--data", "/data"]
CMD ["start", "--health", "127.0.0.1:4040"]
