FROM node:22-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY src ./src
COPY jobs ./jobs
COPY config ./config
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENTRYPOINT ["node", "/app/src/cli/lockstep.mjs", "--data", "/data"]
CMD ["start"]
