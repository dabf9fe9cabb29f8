FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.types.json ./
COPY .ci ./.ci
COPY src ./src
COPY jobs ./jobs
RUN npm run build

FROM node:22-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY --from=build /app/dist ./dist
COPY src/cli/bin ./src/cli/bin
COPY config ./config
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENTRYPOINT ["node", "/app/src/cli/bin/lockstep.mjs", "--data", "/data"]
CMD ["start"]
